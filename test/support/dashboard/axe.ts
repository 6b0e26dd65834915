import { AxeBuilder } from '@axe-core/playwright';
import type { Page } from 'playwright-core';

/** What changes with the theme: everything else was found before. */
const ofColours = ['color-contrast'];

/**
 * Looks for what would keep somebody from using the page as it stands.
 * @param part `colours` looks for those alone
 * @returns each finding, with where it is
 */
export async function findBarriers(page: Page, part: 'all' | 'colours' = 'all'): Promise<string[]> {
  await endTransitions(page);
  const axe = new AxeBuilder({ page }).options({ resultTypes: ['violations'] }).setLegacyMode(true);
  if (part === 'colours') axe.withRules(ofColours);
  const { violations } = await axe.analyze();
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(
      (node) =>
        `${id}: ${node.html.slice(0, 200)} (${(node.failureSummary ?? '').split('\n')[1]?.trim() ?? ''})`,
    ),
  );
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
