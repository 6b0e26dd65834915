import { notifyManager } from '@tanstack/react-query';
import { afterPress, watchPresses } from '../ui/press.js';

/** Keeps what the service tells off the page while something is pressed on it: a list would move under the pointer. */
export function guardPresses(): void {
  watchPresses();
  notifyManager.setScheduler((tell) => setTimeout(() => afterPress(tell), 0));
}
