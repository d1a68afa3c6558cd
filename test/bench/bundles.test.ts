import { expect, test } from '@jest/globals';
import { functionNames } from '../../infra/aws/function-names.ts';
import { bundleBudgets } from '../support/bundle-budgets.ts';
import { measureBundles } from './bundles.ts';

test('every function starts in the benchmark, and its bundle is within its budget', async () => {
  const figures = await measureBundles(1);

  expect(figures.map(({ name }) => name)).toEqual(functionNames);
  const tooLarge = figures.filter(({ name, bytes }) => bytes > bundleBudgets[name]);
  expect(tooLarge.map(({ name, bytes }) => `${name}: ${bytes}`)).toEqual([]);
});
