import { once } from 'node:events';
import { connect } from 'node:net';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { createMovedClock, type MovedClock } from '../../support/moved-clock.ts';
import { openWorld, type World } from '../../support/world.ts';

describe('the path of an alert', () => {
  let world: World;
  let clock: MovedClock;
  beforeEach(async () => {
    clock = createMovedClock();
    world = await openWorld({ dialect: 'live', clock });
  });
  afterEach(() => world.close());

  const body = (id: string) =>
    JSON.stringify({ id, ticker: 'BTCUSDT', action: 'buy', quantity: '0.01', maxSlippage: '1%' });
  async function post(path: string, id = 'one'): Promise<number> {
    const { origin } = new URL(world.webhookUrl);
    return (await fetch(`${origin}${path}`, { method: 'POST', body: body(id) })).status;
  }
  const strays = () => world.logged.filter(({ message }) => message.includes('a path that does not exist'));

  test.each([
    ['with a slash at its end', (path: string) => `${path}/`],
    ['with two slashes at its end and a query', (path: string) => `${path}//?from=here`],
    ['with a doubled slash at its start', (path: string) => `/${path}`],
    ['with doubled slashes inside', (path: string) => path.replaceAll('/', '//')],
  ])('is taken %s', async (_, change) => {
    expect(await post(change(new URL(world.webhookUrl).pathname), 'slashed')).toBe(202);
    await world.settled('slashed');
    expect(strays()).toEqual([]);
  });

  test('is told when the alert was cut off, once a minute: nothing was stored, and no sender shows it', async () => {
    const { hostname, port, pathname } = new URL(world.webhookUrl);
    for (let count = 0; count < 2; count += 1) {
      const socket = connect(Number(port), hostname);
      const closed = once(socket, 'close');
      socket.write(`POST ${pathname} HTTP/1.1\r\nHost: relay\r\nContent-Length: 100\r\n\r\n{"id":`);
      socket.resume().end();
      await closed;
    }

    const cut = world.logged.filter(({ message }) => message.includes('cut off'));
    expect(cut).toMatchObject([{ facts: { alerts: 1 } }]);
    expect(JSON.stringify(cut)).not.toContain(pathname.split('/').at(-1));
  });

  test('that is another one below /signals leaves one line a minute, without path and token', async () => {
    const { pathname } = new URL(world.webhookUrl);
    const token = pathname.split('/').at(-1) ?? '';
    const statuses = [
      await post(`${pathname}/more`),
      await post('/signals/main'),
      await post(`/signal/main/${token}`),
      await post('/elsewhere'),
    ];
    const within = strays().length;
    clock.advance(60_000);
    await post('/signals');

    expect(statuses).toEqual([404, 404, 404, 404]);
    expect([within, ...strays().map(({ facts }) => facts['alerts'])]).toEqual([1, 1, 3]);
    expect(JSON.stringify(strays())).not.toContain(token);
  });
});
