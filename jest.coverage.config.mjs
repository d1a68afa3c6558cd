import shared, { apart } from './jest.config.mjs';

/** Every test file apart, as jest needs it to count the lines. */
export default {
  ...shared,
  projects: shared.projects.map((project) => ({ ...apart, ...pickFiles(project) })),
  // Each test file has its own copy of all modules: a worker that keeps them all gets slower and slower.
  workerIdleMemoryLimit: '1GB',
  collectCoverage: true,
  coverageProvider: 'v8',
  collectCoverageFrom: ['lib/**/*.ts', 'functions/**/*.ts'],
  coverageReporters: ['text', 'json-summary'],
  coverageThreshold: { global: { lines: 95 } },
};

function pickFiles({ testMatch, testPathIgnorePatterns }) {
  return { testMatch, testPathIgnorePatterns };
}
