import type { Locator, Page } from 'playwright-core';

/**
 * Seconds of the keystroke-level model (Card, Moran and Newell, 1980): pointing and pressing, a key, and getting ready
 * for a step. They tell how much a way asks of a hand; waiting and reading are left out.
 */
const PRESS_SECONDS = 1.2;
const KEY_SECONDS = 0.28;
const READY_SECONDS = 1.35;

/** A person's hand on a page: what it presses and types is counted. */
export class Hand {
  readonly page: Page;
  #presses = 0;
  #keys = 0;

  constructor(page: Page) {
    this.page = page;
  }

  /** How often it has pressed; a field that is typed into or chosen from counts as one. */
  get presses(): number {
    return this.#presses;
  }

  /** What its presses and keys take, in whole seconds. */
  get seconds(): number {
    return Math.round(this.#presses * (READY_SECONDS + PRESS_SECONDS) + this.#keys * KEY_SECONDS);
  }

  async press(what: Locator): Promise<void> {
    this.#presses += 1;
    await what.click();
  }

  /** Types into a field. */
  async type(field: Locator, text: string): Promise<void> {
    this.#presses += 1;
    this.#keys += text.length;
    await field.fill(text);
  }

  /** Pastes into a field. */
  async paste(field: Locator, text: string): Promise<void> {
    this.#presses += 1;
    this.#keys += 2;
    await field.fill(text);
  }

  /** Chooses from a list. */
  async choose(field: Locator, option: string): Promise<void> {
    this.#presses += 2;
    await field.selectOption({ label: option });
  }

  /** Presses keys beside any field, such as those that open the palette. */
  async key(keys: string): Promise<void> {
    this.#keys += keys.split('+').length;
    await this.page.keyboard.press(keys);
  }
}
