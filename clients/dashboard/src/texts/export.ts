import { texts } from './texts.js';

/** Everything that the service holds of the user, as a file. */
export const exportTexts = texts({
  title: 'Export your data',
  text: 'Everything we hold about you, as one ZIP archive: rentals, payments, keys, sign-ins, emails and more. It contains no secrets. We email you when a download starts.',
  button: 'Download',
  begun: 'Your download has begun',
  begunText: 'Your browser is saving it. If the archive doesn’t open, it is incomplete: download it again.',
  notBegun: 'Your browser didn’t start the download',
  notBegunStep: 'Check whether it blocks downloads from this page, then try again in a minute.',
});
