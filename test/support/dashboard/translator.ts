import type { Page } from 'playwright-core';

/**
 * A browser's translator, from a document's first moment and for as long as it is open: each text is taken out and
 * stands anew in two elements of the translator's, and so does whatever text comes later. What is marked stays.
 */
const translator = `
  const skipped = 'font, script, style, textarea, [translate=no], .notranslate';
  function wrap(text) {
    const parent = text.parentElement;
    if (!parent || text.data === '' || parent.closest(skipped)) return;
    const outer = document.createElement('font');
    outer.append(document.createElement('font'));
    outer.firstChild.append(text.data);
    text.replaceWith(outer);
  }
  function wrapAll(root) {
    const texts = root.nodeType === Node.TEXT_NODE ? [root] : [];
    const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) texts.push(walker.currentNode);
    texts.forEach(wrap);
  }
  new MutationObserver((changes) => {
    for (const { type, target, addedNodes } of changes) {
      if (type === 'characterData') wrapAll(target);
      else addedNodes.forEach(wrapAll);
    }
  }).observe(document, { subtree: true, childList: true, characterData: true });
`;

/** Has each document of a page translated. */
export async function translate(page: Page): Promise<void> {
  await page.addInitScript({ content: `{${translator}}` });
}

/** What was translated of a page, each text for itself. */
export const translated = (page: Page): Promise<string[]> => page.locator('font > font').allInnerTexts();
