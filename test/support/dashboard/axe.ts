import axe, { type RunOptions } from 'axe-core';
import type { Locator, Page } from 'playwright-core';

/**
 * Looks for what would keep somebody from using the page as it stands.
 * @param dialog the one that is open: of what stands behind it only whether the focus can get there
 * @returns each finding, with where it is
 */
export async function findBarriers(page: Page, dialog?: Locator): Promise<string[]> {
  if (dialog === undefined) return search(page.locator('html'), {});
  return [
    ...(await search(dialog, {})),
    ...(await search(page.locator('html'), { runOnly: ['aria-hidden-focus'] })),
  ];
}

/** Looks in a part of the page only for colours that can't be told apart. @returns each finding, with where it is */
export function findFaintColours(part: Locator): Promise<string[]> {
  return search(part, { runOnly: ['color-contrast'] });
}

async function search(part: Locator, options: RunOptions): Promise<string[]> {
  const page = part.page();
  await endTransitions(page);
  await addAxe(page);
  const { violations } = await part.evaluate(
    (element, of) => (window as unknown as { readonly axe: typeof axe }).axe.run(element, of),
    { ...options, resultTypes: ['violations'] } satisfies RunOptions,
  );
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(
      (node) =>
        `${id}: ${node.html.slice(0, 200)} (${(node.failureSummary ?? '').split('\n')[1]?.trim() ?? ''})`,
    ),
  );
}

/** Adds the library to each document that lacks it: to read it takes longer than most searches. */
async function addAxe(page: Page): Promise<void> {
  for (const frame of page.frames()) {
    if (!(await frame.evaluate(() => 'axe' in window))) await frame.evaluate(axe.source);
  }
}

/** Waits until no colour is on its way to another: one in between is nobody's to judge. */
async function endTransitions(page: Page): Promise<void> {
  await page.evaluate(async () => {
    // The end of one may begin another: what a child inherits moves too.
    for (;;) {
      const running = document.getAnimations().filter((animation) => animation instanceof CSSTransition);
      if (running.length === 0) return;
      await Promise.allSettled(running.map(({ finished }) => finished));
    }
  });
}
