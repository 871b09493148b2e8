// The copy buttons, and all of the page on paper. Without a script the page lacks nothing else.
for (const button of document.querySelectorAll("button.copy")) {
  const [word] = button.children;
  button.hidden = false;
  button.addEventListener("click", async () => {
    const command = button.parentElement.querySelector("code");
    try {
      await navigator.clipboard.writeText(command.textContent);
      word.textContent = "Copied";
    } catch {
      getSelection().selectAllChildren(command);
      word.textContent = "Selected";
    }
    document.querySelector("#said").textContent = word.textContent;
    setTimeout(() => word.textContent = "Copy", 2000);
  });
}
addEventListener("beforeprint", () => {
  for (const closed of document.querySelectorAll("details")) closed.open = true;
});
