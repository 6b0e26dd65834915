import js from '@eslint/js';
import { defineConfig } from 'eslint/config';
import tseslint from 'typescript-eslint';

export default defineConfig(
  { ignores: ['dist/**', 'node_modules/**', '.data/**', '**/*.cjs', 'eslint.config.js', '**/schema.d.ts'] },
  {
    files: ['**/*.ts'],
    extends: [
      js.configs.recommended,
      tseslint.configs.strictTypeChecked,
      tseslint.configs.stylisticTypeChecked,
    ],
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    rules: {
      complexity: ['error', 10],
      'max-lines': ['error', { max: 400, skipBlankLines: false, skipComments: false }],
      'max-lines-per-function': ['error', { max: 70, skipComments: true, skipBlankLines: true }],
      'no-console': 'error',
      eqeqeq: 'error',
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true }],
      '@typescript-eslint/consistent-type-imports': 'error',
      '@typescript-eslint/switch-exhaustiveness-check': [
        'error',
        { considerDefaultExhaustiveForUnions: true },
      ],
      '@typescript-eslint/consistent-type-definitions': 'off',
      '@typescript-eslint/no-confusing-void-expression': ['error', { ignoreArrowShorthand: true }],
    },
  },
  {
    // Tests read as stories: a describe block is a long function by nature, and mocha binds `it` bodies late.
    files: ['test/**/*.ts', 'bench/**/*.ts'],
    rules: { 'max-lines-per-function': 'off', '@typescript-eslint/no-non-null-assertion': 'off' },
  },
  {
    // A migration is one piece of SQL; cutting it into functions would hide the schema.
    files: ['migrations/*.ts'],
    rules: { 'max-lines-per-function': 'off' },
  },
  {
    // Only the composition roots read the environment (design: layout).
    files: [
      'config/**/*.ts',
      'api/**/*.ts',
      'workflows/**/*.ts',
      'activities/**/*.ts',
      'domain/**/*.ts',
      'adapters/**/*.ts',
      'money/**/*.ts',
    ],
    rules: {
      'no-restricted-properties': [
        'error',
        {
          object: 'process',
          property: 'env',
          message: 'Only config.ts reads the environment: take it from the typed config.',
        },
      ],
    },
  },
  {
    // Programs that talk to a person print to the terminal.
    files: ['lab/**/*.ts', 'tools/**/*.ts', 'ops/**/*.ts', 'bench/**/*.ts', 'migrations/run.ts'],
    rules: { 'no-console': 'off' },
  },
);
