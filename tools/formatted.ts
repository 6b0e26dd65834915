import { format } from 'oxfmt';
import options from '../.oxfmtrc.json' with { type: 'json' };

/**
 * Formats a made text as `npm run format` would.
 * @param file the file that it is for; its name tells the language
 * @throws an error where the text can't be read in that language
 */
export async function formatted(file: string, text: string): Promise<string> {
  const { code, errors } = await format(file, text, options);
  if (errors[0]) throw new Error(`${file}: ${errors[0].message}`);
  return code;
}
