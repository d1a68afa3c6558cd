import shared, { proofFiles } from './jest.config.mjs';

/** What shows that the tests would notice: broken relays, faults by the thousand, power cuts, stacks of many kinds. */
export default {
  ...shared,
  testMatch: proofFiles.map((path) => `<rootDir>/${path}`),
  testPathIgnorePatterns: ['/node_modules/'],
};
