import { availableParallelism } from 'node:os';

/** Slow by what they are; `npm run proof` runs them. */
export const proofFiles = [
  'test/simulation/simulation.test.ts',
  'test/simulation/fault-matrix.test.ts',
  'test/chaos/power/played-disk.test.ts',
  'test/journeys/07-generated-bodies.test.ts',
  'test/snapshots/import-interest.property.test.ts',
  'test/infra/options.test.ts',
  'test/infra/rules.test.ts',
  'test/infra/local/upgrade.test.ts',
];

/** These try some of their cases here, and all of them in `npm run proof` (`test/support/runs.ts`). */
export const sampledFiles = [
  'test/**/*.property.test.ts',
  'test/base/http-request.test.ts',
  'test/journeys/06-kill.test.ts',
  'test/ledger/dynamodb-ledger.test.ts',
  'test/ledger/sqlite-ledger.test.ts',
  'test/relay/received-message.test.ts',
  'test/relay/stops-during-closes.test.ts',
  'test/signals/remove-secrets.test.ts',
  'test/signals/size-from-account.test.ts',
  'test/translate/translate-message.test.ts',
];

/** These set the clock or replace a module of Node for themselves: each needs globals and modules of its own. */
const apartFiles = [
  'test/base/http-delivery.test.ts',
  'test/infra/local/minute-loop.test.ts',
  'test/journeys/03-faults-on-stop-limit.test.ts',
  'test/paper/journal.test.ts',
  'test/paper/outage.test.ts',
  'test/paper/prices.test.ts',
  'test/signals/token-comparisons.test.ts',
];

export const fromRoot = (path) => `<rootDir>/${path}`;

/** Of every run. Node strips the types itself; jest loads the sources as they are. */
export const run = {
  // One more than cores: some files wait, for what the exchange shows late. Never one alone: that would run the tests in
  // jest's own process, whose clock some of them stop.
  maxWorkers: availableParallelism() + 1,
  // Generous: a slow machine must not fail what is right. The files that run together have `stuck-file.ts` instead.
  testTimeout: 300_000,
  globalSetup: '<rootDir>/test/support/open-run.ts',
  globalTeardown: '<rootDir>/test/support/close-run.ts',
};

/** The files of one runner, in globals and modules of their own. */
export const apart = {
  testEnvironment: 'node',
  // With the tools, so that nothing stays in the temporary folder.
  cacheDirectory: '<rootDir>/node_modules/.cache/jest',
  transform: {},
  extensionsToTreatAsEsm: ['.ts'],
  testPathIgnorePatterns: ['/node_modules/'],
};

/** The files of one runner, in one process after another: every module is loaded once, not once a file. */
export const together = {
  ...apart,
  runner: '<rootDir>/test/support/together-runner.mjs',
  setupFiles: ['<rootDir>/test/support/native-jest.ts'],
};

export default {
  ...run,
  reporters: ['default', '<rootDir>/test/support/stuck-file.ts'],
  projects: [
    {
      ...together,
      testMatch: ['<rootDir>/test/**/*.test.ts'],
      testPathIgnorePatterns: [
        '/node_modules/',
        // `npm run test:deploy`, `test:clients`, `test:server` and `test:browser` run these: they install what they need.
        '<rootDir>/test/deploy/',
        '<rootDir>/test/server/',
        '<rootDir>/test/clients/',
        '<rootDir>/test/browser/',
        ...[...proofFiles, ...apartFiles].map(fromRoot),
      ],
    },
    { ...apart, testMatch: apartFiles.map(fromRoot) },
  ],
};
