import { readConfig } from '../config.js';
import { migrateToLatest } from './migrate.js';

const taken = await migrateToLatest(readConfig().database.url);
console.log(taken.length === 0 ? 'The schema is up to date.' : `Migrated: ${taken.join(', ')}`);
