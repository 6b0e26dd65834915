import assert from 'node:assert/strict';
import { budget, faultsOf, loadsOf, tableOf, type Manifest } from '../../../tools/dashboard-size/sizes.js';

const manifest: Manifest = {
  'index.html': {
    file: 'assets/index.js',
    isEntry: true,
    imports: ['_shell.js'],
    dynamicImports: ['src/pages/home.tsx', 'src/pages/ledger.tsx'],
  },
  'card.html': { file: 'assets/card.js', isEntry: true, imports: ['_shell.js'] },
  '_shell.js': { file: 'assets/shell.js', css: ['assets/shell.css'], imports: ['_react.js'] },
  '_react.js': { file: 'assets/react.js' },
  'src/pages/home.tsx': { file: 'assets/home.js', imports: ['_shell.js', 'index.html', '_table.js'] },
  'src/pages/ledger.tsx': {
    file: 'assets/ledger.js',
    imports: ['_table.js'],
    dynamicImports: ['src/ui/chart.tsx', 'src/pages/home.tsx', 'src/ui/overlays/dialog.tsx'],
  },
  '_table.js': { file: 'assets/table.js', css: ['assets/table.css'] },
  'src/ui/chart.tsx': { file: 'assets/chart.js', imports: ['_react.js'] },
  'src/ui/overlays/dialog.tsx': { file: 'assets/dialog.js', imports: ['_react.js', '_table.js'] },
};

const sizes: Record<string, number> = {
  'assets/index.js': 40_000,
  'assets/shell.js': 60_000,
  'assets/shell.css': 5_000,
  'assets/react.js': 50_000,
  'assets/card.js': 400,
  'assets/home.js': 2_000,
  'assets/ledger.js': 10_000,
  'assets/table.js': 6_000,
  'assets/table.css': 300,
  'assets/chart.js': 23_000,
  'assets/dialog.js': 14_000,
};

describe('the size of the dashboard', () => {
  const loads = (changed: Record<string, number> = {}) =>
    loadsOf(manifest, (file) => changed[file] ?? sizes[file] ?? assert.fail(`${file} has no size`));

  it('is what each document imports, and what each page with what follows it, and each overlay, bring beyond that', () => {
    assert.deepEqual(loads(), [
      { name: 'first load', scriptBytes: 150_000, cssBytes: 5_000, budgetBytes: budget.first },
      { name: 'the card’s document', scriptBytes: 110_400, cssBytes: 5_000, budgetBytes: budget.first },
      { name: 'src/pages/home.tsx', scriptBytes: 8_000, cssBytes: 300, budgetBytes: budget.page },
      { name: 'src/pages/ledger.tsx', scriptBytes: 39_000, cssBytes: 300, budgetBytes: budget.page },
      { name: '  on src/ui/overlays/dialog.tsx', scriptBytes: 14_000, cssBytes: 0, budgetBytes: budget.page },
    ]);
    assert.deepEqual(faultsOf(loads()), []);
  });

  it('is refused over a budget, with what is over', () => {
    const large = loads({ 'assets/react.js': 50_001, 'assets/chart.js': 24_001, 'assets/dialog.js': 40_001 });
    assert.deepEqual(faultsOf(large), [
      'first load: 150001 bytes of gzipped script, at most 150000 are allowed',
      'src/pages/ledger.tsx: 40001 bytes of gzipped script, at most 40000 are allowed',
      'on src/ui/overlays/dialog.tsx: 40001 bytes of gzipped script, at most 40000 are allowed',
    ]);
  });

  it('is shown as a table', () => {
    assert.deepEqual(tableOf(loads()).split('\n').slice(0, 2), [
      'gzipped                            script   at most   style',
      'first load                       150.0 KB  150.0 KB  5.0 KB',
    ]);
  });

  it('is not guessed where the build is not understood', () => {
    assert.throws(() => loadsOf({}, () => 0), /has no index\.html/);
  });
});
