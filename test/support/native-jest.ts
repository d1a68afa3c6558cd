import { registerHooks } from 'node:module';

/** Test files name what they use of jest; the runner that loads every module once has it in its globals alone. */
const names = ['afterAll', 'afterEach', 'beforeAll', 'beforeEach', 'describe', 'expect', 'test'];
const source = `export const { ${names.join(', ')} } = globalThis;`;

registerHooks({
  resolve(specifier, context, nextResolve) {
    if (specifier !== '@jest/globals') return nextResolve(specifier, context);
    return { url: `data:text/javascript,${encodeURIComponent(source)}`, shortCircuit: true };
  },
});
