import type { Plugin } from 'vite';
import { loginTexts } from '../src/texts/login.js';
import { shellTexts } from '../src/texts/shell.js';

const { lead, email, emailHint } = loginTexts;
const words = { title: shellTexts.pages.login, lead, email, emailHint };

/** Puts the words of the sign-in into the document, so that a slow line brings them before any script. */
export function wordsOfSignIn(): Plugin {
  return {
    name: 'words-of-sign-in',
    transformIndexHtml: (html) =>
      Object.entries(words).reduce((made, [name, word]) => made.replace(`%login.${name}%`, word), html),
  };
}
