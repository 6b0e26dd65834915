import { removeStackData } from './stack/data.js';
import { readStackSettings } from './stack/settings.js';

try {
  const settings = readStackSettings();
  const removed = removeStackData(settings);
  if (removed.length === 0) {
    console.log(`There is nothing to remove: ${settings.dataDir} holds no data of a stack.`);
  } else {
    console.log(['Removed:', ...removed.map((path) => `  ${path}`)].join('\n'));
    console.log('The next "npm start" begins anew.');
  }
  if (settings.databaseUrl !== null) {
    console.log(
      'The database of DATABASE_URL was left alone. The next processor knows none of its customers and',
    );
    console.log('refuses their payments: name a new database.');
  }
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
