/** Slow by what they are; `npm run proof` runs them. */
export const proofFiles = [
  'test/simulation/simulation.test.ts',
  'test/chaos/power/played-disk.test.ts',
  'test/journeys/07-generated-bodies.test.ts',
  'test/snapshots/import-interest.property.test.ts',
  'test/infra/options.test.ts',
  'test/infra/rules.test.ts',
];

/** These try some of their cases here, and all of them in `npm run proof` (`test/support/runs.ts`). */
export const sampledFiles = [
  'test/**/*.property.test.ts',
  'test/base/http-request.test.ts',
  'test/journeys/06-kill.test.ts',
  'test/ledger/dynamodb-ledger.test.ts',
  'test/ledger/sqlite-ledger.test.ts',
  'test/signals/size-from-account.test.ts',
  'test/translate/translate-message.test.ts',
];

/** Node strips the types itself; jest loads the sources as they are. */
export default {
  testEnvironment: 'node',
  maxWorkers: '100%',
  // With the tools, so that nothing stays in the temporary folder.
  cacheDirectory: '<rootDir>/node_modules/.cache/jest',
  // Each test file has its own copy of all modules: a worker that keeps them all gets slower and slower.
  workerIdleMemoryLimit: '1GB',
  transform: {},
  extensionsToTreatAsEsm: ['.ts'],
  globalSetup: '<rootDir>/test/support/open-run.ts',
  globalTeardown: '<rootDir>/test/support/close-run.ts',
  // Generous: a slow machine must not fail what is right.
  testTimeout: 300_000,
  testMatch: ['<rootDir>/test/**/*.test.ts'],
  testPathIgnorePatterns: [
    '/node_modules/',
    // `npm run test:deploy` and `npm run test:clients` run these: they install what they need.
    '<rootDir>/test/deploy/',
    '<rootDir>/test/clients/',
    ...proofFiles.map((path) => `<rootDir>/${path}`),
  ],
  coverageProvider: 'v8',
  collectCoverageFrom: ['lib/**/*.ts', 'functions/**/*.ts'],
  coverageReporters: ['text', 'json-summary'],
  coverageThreshold: { global: { lines: 95 } },
};
