import { describeCommands } from './commands.js';
import { describePythonContract } from './contract.js';
import { describeEnds } from './ends.js';
import { describeLimits } from './limits.js';
import { describeLongFiles } from './long-files.js';
import { describeNewerWords } from './newer-words.js';
import { describePackage } from './package.js';
import { describeRefused } from './refused.js';
import { describeSameRequests } from './same-requests.js';
import { describeThreads } from './threads.js';
import { describeUnsent } from './unsent.js';

// One process builds the package and installs it once, for all of them.
describePackage();
describeLongFiles();
describeEnds();
describeThreads();
describeCommands();
describeRefused();
describeUnsent();
describeLimits();
describeSameRequests();
describePythonContract();
describeNewerWords();
