import type { Page } from 'playwright-core';

/** How many steps are walked on a page: a long list is walked at its beginning. */
const MOST_STEPS = 100;

type Marked = Window & { __styles?: readonly string[] };

/** Goes through a page by Tab. @returns what can't be reached so, or does not show that it has the focus */
export async function walkByTab(page: Page): Promise<string[]> {
  const usable = await markUsable(page);
  // A field may have the focus from the beginning.
  const begun = await readFocus(page);
  const reached = new Set(begun ? [begun.no] : []);
  const shown = new Set<number>();
  const hidden = new Map<number, string>();
  // A field of a date has a stop for each of its parts, of which the browser shows one by itself.
  const steps = Math.min(usable.length * 2 + 5, MOST_STEPS);
  for (let step = 0; step < steps; step += 1) {
    await page.keyboard.press('Tab');
    const at = await readFocus(page);
    if (!at) break;
    if (at.isShown) shown.add(at.no);
    else hidden.set(at.no, at.html);
    reached.add(at.no);
  }
  const faults = [...hidden].filter(([no]) => !shown.has(no)).map(([, html]) => html);
  const missed = usable.slice(0, MOST_STEPS / 2).filter((_html, no) => !reached.has(no));
  return [
    ...faults.map((html) => `does not show the focus: ${html}`),
    ...missed.map((html) => `is not reached by Tab: ${html}`),
  ];
}

/** Numbers all that can be used, and notes how each looks. The arrow keys lead through a group of choices. */
function markUsable(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const all = document.querySelectorAll<HTMLElement>(
      'a[href], button, input, select, textarea, summary, [tabindex="0"]',
    );
    const byArrows = '[role="radio"], [role="tab"], [role="option"], [role="menuitem"], [type="radio"]';
    const usable = [...all].filter(
      (element) =>
        !element.matches(`:disabled, [tabindex="-1"], ${byArrows}`) &&
        element.checkVisibility({ visibilityProperty: true }) &&
        element.closest('[inert], [aria-hidden="true"]') === null,
    );
    usable.forEach((element, index) => (element.dataset['walk'] = String(index)));
    (window as Marked).__styles = usable.map((element) => {
      const { boxShadow, borderColor, backgroundColor, textDecoration } = getComputedStyle(element);
      return [boxShadow, borderColor, backgroundColor, textDecoration].join();
    });
    return usable.map((element) => element.outerHTML.slice(0, 160));
  });
}

function readFocus(page: Page): Promise<{ no: number; isShown: boolean; html: string } | undefined> {
  return page.evaluate(() => {
    const element = document.activeElement;
    if (!(element instanceof HTMLElement) || element === document.body) return undefined;
    const style = getComputedStyle(element);
    const { boxShadow, borderColor, backgroundColor, textDecoration } = style;
    const no = Number(element.dataset['walk'] ?? -1);
    const look = [boxShadow, borderColor, backgroundColor, textDecoration].join();
    // What stretches over its card by ::after has its outline there.
    const isOutlined = [style, getComputedStyle(element, '::after')].some(
      ({ outlineStyle, outlineWidth }) => outlineStyle !== 'none' && outlineWidth !== '0px',
    );
    const isShown = isOutlined || look !== (window as Marked).__styles?.[no];
    return { no, isShown, html: element.outerHTML.slice(0, 160) };
  });
}
