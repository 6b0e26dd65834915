import { texts } from './texts.js';

/** Everything that the service holds of the user, as a file. */
export const exportTexts = texts({
  title: 'Export your data',
  text: 'Everything we hold of you, as one ZIP archive: rentals, money, keys, sign-ins, emails and the rest. No secret is in it. We email you that it was made.',
  button: 'Download',
  begun: 'Your download has begun',
  begunText: 'Your browser saves it. An archive that ends too early does not open: download it again.',
  notBegun: 'Your browser began no download.',
  notBegunStep: 'Look whether it blocks downloads from this page, then try again in a minute.',
});
