// The arrows of the house (docs/architecture.md): who may import whom. `npm run arrows` fails on any other import.
const roots = '^(api|worker|ops|listener)/index\\.ts$|^migrations/run\\.ts$';
/** @type {import('dependency-cruiser').IConfiguration} */
module.exports = {
  forbidden: [
    { name: 'no-circular', severity: 'error', from: {}, to: { circular: true } },
    {
      name: 'domain-imports-nothing',
      comment: 'Workflows load the domain into the Temporal sandbox, so it may not even import Node.',
      severity: 'error',
      from: { path: '^domain/' },
      to: { pathNot: '^domain/' },
    },
    {
      name: 'workflows-are-pure',
      comment: 'Workflows see activities by type only.',
      severity: 'error',
      from: { path: '^workflows/' },
      to: {
        pathNot: '^(workflows|domain)/|^node_modules/@temporalio/(workflow|common)',
        dependencyTypesNot: ['type-only'],
      },
    },
    {
      name: 'workflows-type-only',
      severity: 'error',
      from: { path: '^workflows/' },
      to: { path: '^(api|adapters|money|worker|lab|tools|ops|migrations)/|^config(\\.ts$|/)' },
    },
    {
      name: 'http-cannot-move-money',
      comment: 'The API never reaches activities nor the writers of wallets, ledger and rentals.',
      severity: 'error',
      from: { path: '^api/' },
      to: { path: '^(activities|money|worker|lab|tools|ops)/' },
    },
    {
      name: 'the-listener-stands-alone',
      comment: 'Strangers’ machines call it: it reaches three functions of the database, and nothing else.',
      severity: 'error',
      from: { path: '^listener/' },
      to: {
        path: '^(api|activities|money|workflows|worker|lab|tools|ops|migrations)/|^adapters/(?!log|machine-bundles|metrics/|postgres/|kept)',
        pathNot: '^api/(server|http/middleware/client-address)\\.ts$',
      },
    },
    {
      name: 'nobody-needs-the-listener',
      severity: 'error',
      from: { pathNot: '^(listener|test|bench)/' },
      to: { path: '^listener/' },
    },
    {
      name: 'activities-go-down',
      severity: 'error',
      from: { path: '^activities/' },
      to: {
        path: '^(api|worker|lab|tools|ops|workflows|migrations)/',
        // A workflow's contract is its name, its signals and its input: what who talks to it must know.
        pathNot: '^workflows/contracts/',
        dependencyTypesNot: ['type-only'],
      },
    },
    {
      name: 'adapters-see-domain-only',
      severity: 'error',
      from: { path: '^adapters/', pathNot: '^adapters/temporal/' },
      to: { path: '^(api|activities|money|workflows|worker|lab|tools|ops|migrations)/' },
    },
    {
      name: 'temporal-sees-contracts',
      comment:
        'Who starts and signals workflows needs their contracts, and nothing of how they do their work.',
      severity: 'error',
      from: { path: '^adapters/temporal/' },
      to: {
        path: '^(api|activities|money|workflows|worker|lab|tools|ops|migrations)/',
        pathNot: '^workflows/contracts/',
      },
    },
    {
      name: 'one-way-to-temporal',
      comment: 'Who starts, signals and lists workflows stands in one folder; types count too.',
      severity: 'error',
      from: { pathNot: '^(adapters/temporal|lab|tools|bench|test)/' },
      to: { path: '^node_modules/@temporalio/client/' },
    },
    {
      name: 'contracts-are-pure',
      comment: 'Programs outside the sandbox load them as well as workflows do.',
      severity: 'error',
      from: { path: '^workflows/contracts/' },
      to: { pathNot: '^workflows/contracts/|^domain/|^node_modules/@temporalio/(workflow|common)/' },
    },
    {
      name: 'money-goes-down',
      comment: 'The heart knows rows and rules, and nobody who asks it to move something.',
      severity: 'error',
      from: { path: '^money/' },
      to: { pathNot: '^(money|domain|adapters)/|^node_modules/|^[a-z_/]+$' },
    },
    {
      name: 'only-money-opens-a-money-transaction',
      comment:
        'The opener, the lock of a wallet and the postings are of the heart alone; who wants money moved calls what it offers.',
      severity: 'error',
      from: { pathNot: '^(money|test|bench)/' },
      to: { path: '^money/(ledger/|metering/meter\\.ts$)', dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'no-circles-of-nouns-in-money',
      scope: 'folder',
      severity: 'error',
      from: { path: '^money/' },
      to: { circular: true },
    },
    {
      name: 'only-roots-read-config',
      severity: 'error',
      from: { pathNot: `${roots}|^(lab|tools|test|bench)/|^config\\.ts$` },
      to: { path: '^config\\.ts$', dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'config-is-read-as-a-whole',
      comment: 'A section of the configuration stands in config/; others see the whole of it.',
      severity: 'error',
      from: { pathNot: '^config(\\.ts$|/)' },
      to: { path: '^config/' },
    },
    {
      name: 'no-product-code-imports-the-lab',
      severity: 'error',
      from: { pathNot: '^(lab|tools|test|bench)/' },
      to: { path: '^(lab|tools)/' },
    },
    {
      name: 'clients-know-the-description-only',
      comment:
        'What stands in clients/ leaves this house: it knows the service by its answers, and other clients by name.',
      severity: 'error',
      from: { path: '^clients/([^/]+)/' },
      to: { path: '^(?!clients/|node_modules/)[^/]+/|^config\\.ts$', dependencyTypesNot: ['core'] },
    },
    {
      name: 'the-typed-client-stands-alone',
      severity: 'error',
      from: { path: '^clients/typescript/' },
      to: { pathNot: '^clients/typescript/|^node_modules/openapi-fetch/' },
    },
    {
      name: 'no-product-code-imports-clients',
      severity: 'error',
      from: { pathNot: '^(clients|lab|tools|test|bench)/' },
      to: { path: '^clients/' },
    },
    {
      name: 'the-lab-needs-no-tools',
      severity: 'error',
      from: { path: '^lab/' },
      to: { path: '^tools/' },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'require', 'node', 'default'],
    },
  },
};
