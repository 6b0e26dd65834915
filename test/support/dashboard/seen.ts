import type { Page } from 'playwright-core';

/** What a page's own observers have seen since its load. */
export interface SeenInPage {
  /** What its policy has blocked, or would have. */
  readonly violations: readonly string[];
  /** How far its parts have moved by themselves: the cumulative layout shift. */
  readonly shift: number;
  /** What has moved, for whoever mends it. */
  readonly moved: readonly string[];
}

type Observed = Window & { readonly __seen?: SeenInPage };

/** Has each document of a page watch itself from its first moment. */
export async function watchDocuments(page: Page): Promise<void> {
  await page.addInitScript(() => {
    const violations: string[] = [];
    const moved: string[] = [];
    const seen = { violations, moved, shift: 0 };
    Object.assign(window, { __seen: seen });
    document.addEventListener('securitypolicyviolation', (event) => {
      violations.push(`${event.effectiveDirective} blocked ${event.blockedURI} (${event.sourceFile})`);
    });
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries()) {
        const shift = entry as PerformanceEntry & {
          readonly value: number;
          readonly hadRecentInput: boolean;
          readonly sources: readonly { readonly node: Node | null }[];
        };
        if (shift.hadRecentInput) continue;
        seen.shift += shift.value;
        const nodes = shift.sources.map(({ node }) => {
          const element = node instanceof Element ? node : node?.parentElement;
          return element?.outerHTML.slice(0, 120) ?? '';
        });
        moved.push(`${shift.value.toFixed(3)} ${nodes.join(' | ')}`);
      }
    }).observe({ type: 'layout-shift', buffered: true });
  });
}

export function seenIn(page: Page): Promise<SeenInPage> {
  return page.evaluate(() => {
    const { __seen: seen } = window as Observed;
    if (!seen) throw new Error('the page was loaded before it was watched');
    return seen;
  });
}

/** What stands beyond the right edge of the screen; a part that scrolls by itself may hold more than is seen. */
export function overflowOf(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const { clientWidth, scrollWidth } = document.documentElement;
    if (scrollWidth <= clientWidth) return [];
    const wide = [...document.body.querySelectorAll('*')].filter(
      (element) => element.getBoundingClientRect().right > clientWidth + 1,
    );
    return [
      `the page is ${scrollWidth} px wide`,
      ...wide.slice(0, 5).map((each) => each.outerHTML.slice(0, 160)),
    ];
  });
}
