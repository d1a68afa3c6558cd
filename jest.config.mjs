/** Node strips the types itself; jest loads the sources as they are. */
export default {
  testEnvironment: 'node',
  maxWorkers: '100%',
  // Each test file has its own copy of all modules: a worker that keeps them all gets slower and slower.
  workerIdleMemoryLimit: '1GB',
  transform: {},
  extensionsToTreatAsEsm: ['.ts'],
  // Functions are loaded with the owner's configuration.
  globalSetup: '<rootDir>/test/support/provide-config.ts',
  // Generous: a slow machine must not fail what is right.
  testTimeout: 300_000,
  testMatch: ['<rootDir>/test/**/*.test.ts'],
  // `npm run test:deploy` and `npm run test:clients` run these: they install what they need.
  testPathIgnorePatterns: ['/node_modules/', '<rootDir>/test/deploy/', '<rootDir>/test/clients/'],
  coverageProvider: 'v8',
  collectCoverageFrom: ['lib/**/*.ts', 'functions/**/*.ts'],
  coverageReporters: ['text', 'json-summary'],
  coverageThreshold: { global: { lines: 95 } },
};
