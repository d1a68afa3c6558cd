import shared, { proofFiles, sampledFiles } from './jest.config.mjs';

/** What shows that the tests would notice: broken relays, faults by the thousand, power cuts, stacks of many kinds. */
export default {
  ...shared,
  testMatch: [...proofFiles, ...sampledFiles].map((path) => `<rootDir>/${path}`),
  globals: { isProof: true },
  testPathIgnorePatterns: ['/node_modules/'],
};
