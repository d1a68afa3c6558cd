import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { parseConfig } from '../../lib/host/config.ts';
import type { NoticeSettings } from '../../lib/notices/notice-settings.ts';
import { type StandIn, startStandIn, tokens } from '../notices/stand-in.ts';
import { buyAlert } from '../support/alerts.ts';
import { openWorld, testConfig, type World } from '../support/world.ts';

/** All services, and no heartbeat unless a test asks for it. */
function settings(changes: object = {}): NoticeSettings {
  const notices = {
    channels: ['telegram', 'slack', 'discord', 'ntfy', 'webhook'],
    tell: { heartbeat: 'off' },
    ...changes,
  };
  return parseConfig({ ...testConfig, notices }).notices;
}

describe('with notices on', () => {
  let standIn: StandIn;
  let world: World;

  async function open(notices = settings()): Promise<void> {
    world = await openWorld({ dialect: 'live', notices, ways: standIn.ways });
    world.setPrice('BTC_USDT', '50000');
  }

  beforeEach(async () => {
    standIn = await startStandIn();
  });
  afterEach(async () => {
    await world.close();
    await standIn.close();
  });

  const textsOf = (service: keyof StandIn['shown']) => standIn.shown[service].map(({ text }) => text);

  test('an order is told when the exchange has accepted it, and its fill with price, stop-loss and profit', async () => {
    await open();
    await world.post(buyAlert());
    await world.settled('buy-1');
    await world.tell();
    world.setPrice('BTC_USDT', '50150');
    await world.follow();
    await world.tell();
    world.setPrice('BTC_USDT', '52000');
    await world.follow();
    await world.tell();

    const [placed = '', filled = '', target = ''] = textsOf('telegram');
    expect(placed).toMatch(/^main · buy 0\.01 BTC_USDT: accepted by the exchange\n/);
    expect(filled).toContain('main · bought 0.01 BTC_USDT at 50150');
    expect(filled).toContain('main · stop-loss of BTC_USDT at 49000 stands');
    expect(filled).toContain('main · take-profit of BTC_USDT at 52000 stands');
    expect(target).toMatch(/take-profit filled: sold 0\.01 BTC_USDT at 52000, profit \+1\d\.\d\d USDT/);
    for (const service of ['slack', 'discord', 'webhook'] as const) expect(textsOf(service)).toHaveLength(3);
    expect(standIn.shown.telegram.map(({ isSilent }) => isSilent)).toEqual([true, false, false]);
  });

  test('a take-profit that the relay has placed is told with its signal and its profit, and a close with its name', async () => {
    await open();
    const market = { ticker: 'BTCUSDT', orderType: 'market', maxSlippage: '1%', strategy: 'BE' };
    const takeProfits = [{ price: '51000', share: '50%' }];
    await world.post(
      JSON.stringify({ ...market, id: 'buy-1', action: 'buy', quantity: '0.01', takeProfits }),
    );
    await world.settledBelow('buy-1', 2);
    await world.follow();
    world.setPrice('BTC_USDT', '51000');
    await world.follow();
    await world.post(JSON.stringify({ ...market, id: 'close-1', action: 'close' }));
    await world.settled('close-1');
    await world.follow();
    await world.tell();

    const [text = ''] = textsOf('slack');
    // 5 of the price, less the fees of half the entry and of the sale.
    expect(text).toMatch(
      /main · take-profit 1 of buy-1 filled: sold 0\.005 BTC_USDT at 51000, profit \+4\.\d\d USDT \[BE\]/,
    );
    expect(text).toContain('main · close filled: sold 0.005 BTC_USDT at 50999.99 [BE]');
  });

  test('a refused alert and a denied order are told with their reason, each once', async () => {
    await open();
    await world.post(buyAlert({ id: 'bad', stoplos: '1' }));
    await world.post(buyAlert({ id: 'much', quantity: '3' }));
    await world.settled('much');
    await world.tell();
    await world.tell();

    const [text = '', ...more] = textsOf('slack');
    expect(more).toEqual([]);
    expect(text).toMatch(/^2 notices: 2 denied\n/);
    expect(text).toContain('main · alert bad REFUSED');
    expect(text).toMatch(/buy 3 BTC_USDT: DENIED, nothing was sent — .* may be 2 at most, and is 3/);
  });

  test('an unknown outcome is one notice, although an alarm and the ledger report it, and its end another one', async () => {
    await open();
    world.paper.control.addFault({ fault: 'drop_after', endpoint: 'stop-limit' });
    await world.post(buyAlert());
    await world.settled('buy-1');
    await world.tell();
    await world.reconcile();
    await world.tell();

    expect(textsOf('ntfy')).toHaveLength(2);
    expect(textsOf('ntfy')[0]).toMatch(/ALARM: signal outcome unknown/);
    expect(textsOf('ntfy')[1]).toMatch(/now known: accepted by the exchange/);
  });

  test('a flood is one message that says how much there was, and every alarm stands by itself in it', async () => {
    await open();
    for (let index = 0; index < 30; index += 1)
      await world.post(buyAlert({ id: `n-${index}`, quantity: '3' }));
    await world.settledBelow('n-', 30);
    world.paper.control.addFault({ fault: 'drop_after', endpoint: 'stop-limit' });
    await world.post(buyAlert());
    await world.settled('buy-1');
    await world.tell();

    expect(textsOf('discord')).toHaveLength(1);
    expect(textsOf('discord')[0]).toMatch(
      /^31 notices: 30 denied, 1 unknown\nmain · ALARM: signal outcome unknown — /,
    );
    expect(textsOf('discord')[0]).toContain('main · 30 denied; `npx relay signals` lists them');
  });

  test('a category that is off is not told, for all accounts or for one', async () => {
    const config = {
      ...testConfig,
      accounts: { ...testConfig.accounts, slow: { ...testConfig.accounts.slow, notices: { denied: 'on' } } },
      notices: { channels: ['slack'], tell: { denied: 'off', placed: 'off', heartbeat: 'off' } },
    };
    await open(parseConfig(config).notices);
    await world.post(buyAlert({ quantity: '3' }));
    await world.settled('buy-1');
    await world.post(buyAlert({ id: 'eth', ticker: 'ETHUSDT' }), { account: 'slow' });
    await world.settled('eth', 'slow');
    await world.tell();

    expect(textsOf('slack')).toHaveLength(1);
    expect(textsOf('slack')[0]).toContain('slow · buy 0.01 ETH_USDT: DENIED');
  });

  test('a service that fails or asks to wait is not asked again at once', async () => {
    await open(settings({ channels: ['telegram', 'slack'] }));
    standIn.replies.push({ status: 500 }, { status: 429, headers: { 'retry-after': '3600' } });
    await world.post(buyAlert());
    await world.settled('buy-1');
    await world.tell();
    await world.tell();

    expect(standIn.requestCount()).toBe(2);
    const warned = world.logged.filter(({ message }) => message.startsWith('notices could not be sent'));
    expect(warned.map(({ facts }) => facts['channel']).sort()).toEqual(['slack', 'telegram']);
  });

  test('the heartbeat says once a day what was done and what is held', async () => {
    await open(settings({ tell: {}, channels: ['slack'] }));
    await world.tell();
    await world.tell();

    const heartbeats = textsOf('slack').join('\n');
    expect(heartbeats).toContain(
      'main · The last 24 hours: 0 signals, 0 fills, 0 unknown — no position was read',
    );
    expect(heartbeats.match(/The last 24 hours/g)).toHaveLength(3);
  });

  test('an alert that holds what opens a channel is refused', async () => {
    await open();
    const posted = await world.post(buyAlert({ comment: `token ${tokens.bot}` }));
    expect(posted).toMatchObject({ status: 400 });
    expect(JSON.stringify(posted)).not.toContain(tokens.bot);
  });

  test('no log line holds what opens a channel', async () => {
    await open();
    standIn.replies.push(
      ...Array.from({ length: 5 }, () => ({ status: 403, body: { description: tokens.bot } })),
    );
    await world.post(buyAlert());
    await world.settled('buy-1');
    await world.tell();

    expect(world.logged.filter(({ message }) => message.startsWith('notices could not'))).toHaveLength(5);
    const lines = JSON.stringify(world.logged);
    for (const secret of [
      tokens.bot,
      tokens.slackPath,
      tokens.discordPath,
      tokens.ntfyToken,
      tokens.webhookKey,
    ])
      expect(lines).not.toContain(secret);
  });
});
