/** Node strips the types itself; jest loads the sources as they are. */
export default {
  testEnvironment: 'node',
  transform: {},
  extensionsToTreatAsEsm: ['.ts'],
  testMatch: ['<rootDir>/test/**/*.test.ts'],
  coverageProvider: 'v8',
  collectCoverageFrom: ['lib/**/*.ts', 'functions/**/*.ts'],
  coverageReporters: ['text', 'json-summary'],
  coverageThreshold: { global: { lines: 95 } },
};
