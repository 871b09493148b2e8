import assert from "node:assert/strict";
import { openChromium } from "../chromium.js";

Deno.test("Chromium opens a page", async () => {
  const browser = await openChromium();
  try {
    const page = await browser.newPage();
    await page.setContent("<title>a page</title>");
    assert.equal(await page.title(), "a page");
  } finally {
    await browser.close();
  }
});
