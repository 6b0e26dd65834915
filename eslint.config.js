import js from '@eslint/js';
import query from '@tanstack/eslint-plugin-query';
import router from '@tanstack/eslint-plugin-router';
import { defineConfig } from 'eslint/config';
import jsxA11y from 'eslint-plugin-jsx-a11y';
import reactHooks from 'eslint-plugin-react-hooks';
import tseslint from 'typescript-eslint';

export default defineConfig(
  {
    ignores: [
      'dist/**',
      'node_modules/**',
      '.data/**',
      '**/*.cjs',
      'eslint.config.js',
      '**/schema.d.ts',
      'adapters/postgres/rows/tables.ts',
      'clients/dashboard/public/**',
    ],
  },
  {
    files: ['**/*.ts', '**/*.tsx'],
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
    files: ['clients/dashboard/**/*.{ts,tsx}'],
    extends: [
      reactHooks.configs.flat.recommended,
      jsxA11y.flatConfigs.strict,
      query.configs['flat/recommended'],
      router.configs['flat/recommended'],
    ],
    rules: {
      '@typescript-eslint/no-misused-promises': ['error', { checksVoidReturn: { attributes: false } }],
      // The router catches what is no error: where to go instead.
      '@typescript-eslint/only-throw-error': [
        'error',
        {
          allow: [{ from: 'package', package: '@tanstack/router-core', name: ['Redirect', 'NotFoundError'] }],
        },
      ],
      // Whatever sends something sends it once for a press.
      'no-restricted-imports': [
        'error',
        {
          paths: [
            {
              name: '@tanstack/react-query',
              importNames: ['useMutation'],
              message: 'Use the one of data/use-mutation.ts: one request for one press.',
            },
          ],
        },
      ],
      // Whatever a person reads stands in src/texts.
      'no-restricted-syntax': [
        'error',
        {
          selector: 'JSXText[value=/[A-Za-z]{2}/]',
          message: 'Texts stand in src/texts, one catalogue a noun.',
        },
      ],
    },
  },
  {
    files: ['clients/dashboard/**/*.{ts,tsx}', 'clients/typescript/src/**/*.ts'],
    rules: {
      'no-restricted-properties': [
        'error',
        {
          object: 'crypto',
          property: 'randomUUID',
          message:
            'Pages that came by plain http have none: use newIdempotencyKey, or crypto.getRandomValues.',
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
