import { describePythonContract } from './contract.js';
import { describeEnds } from './ends.js';
import { describeExport } from './export.js';
import { describeNewerWords } from './newer-words.js';
import { describePackage } from './package.js';
import { describeSameRequests } from './same-requests.js';

// One process builds the package and installs it once, for all of them.
describePackage();
describeExport();
describeEnds();
describeSameRequests();
describePythonContract();
describeNewerWords();
