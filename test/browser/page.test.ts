import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { Browser, Page } from 'playwright-core';
import type { PriceDocument } from '../../dashboard/documents.ts';
import config from '../../relay.config.example.ts';
import { openPageWorld, type PageWorld } from '../cli/dashboard/open-page.ts';
import { buyAlert } from '../support/alerts.ts';
import { launchBrowser, openWindow, type Window, waitForDrawn } from './open-browser.ts';

let browser: Browser;
let relay: PageWorld;
let window: Window;
let page: Page;

beforeAll(async () => {
  browser = await launchBrowser();
});
afterAll(() => browser.close());

beforeEach(async () => {
  relay = await openPageWorld({ config, followEveryMs: 200 });
  relay.world.setPrice('BTC_USDT', '50000');
  window = await openWindow(browser);
  page = window.page;
  await page.goto(relay.page.entryUrl);
  await page.getByRole('heading', { name: 'Signals' }).waitFor();
});
afterEach(async () => {
  const faults = [...window.faults];
  await window.close();
  await relay.close();
  expect(faults).toEqual([]);
});

const market = { id: 'buy-1', ticker: 'BTCUSDT', action: 'buy', quantity: '0.001' };
const view = (name: string) => page.getByRole('navigation').getByRole('link', { name, exact: true }).click();
const shown = (text: string | RegExp) => page.getByText(text).first().waitFor();
const press = (name: string | RegExp) => page.getByRole('button', { name }).first().click();
const inDialog = (name: string) => page.getByRole('dialog').getByRole('button', { name, exact: true });

describe('the page', () => {
  test('keeps its token out of the address, and its session across a reload', async () => {
    expect(page.url()).toBe(`${relay.page.url}/`);

    await page.reload();

    await page.getByRole('heading', { name: 'Signals' }).waitFor();
    expect(await page.evaluate('document.cookie')).toBe('');
  });

  test('builds an alert, tries it, and shows the signal as it appears and fills', async () => {
    await view('Alert builder');
    await page.getByLabel('Stop-loss').fill('2%');
    await page.getByLabel('Take-profit').fill('4%');
    await page.getByText('would be sent', { exact: true }).waitFor();
    expect(JSON.parse(await page.getByLabel('Into the message box').inputValue())).toEqual({
      ticker: '{{ticker}}',
      action: 'buy',
      orderType: 'market',
      quantity: '0.001',
      stopLoss: '2%',
      takeProfit: '4%',
      time: '{{timenow}}',
    });

    await press('Try it');
    await inDialog('Send it').click();
    await shown(/^Taken:/);
    await view('Signals');

    const row = page.getByRole('listitem').filter({ hasText: 'buy 0.001' });
    await row.getByText('0.001 at 50000').waitFor();
    await row.getByRole('link').click();
    await page.getByRole('heading', { name: 'Orders and fills' }).waitFor();
    await page.getByRole('cell', { name: 'stop-loss' }).waitFor();
    await page.getByRole('cell', { name: '49 000' }).waitFor();
  });

  test('says what is wrong with a message as it is typed', async () => {
    await view('Alert builder');

    await page
      .getByLabel('Into the message box')
      .fill('{"ticker": "BTCUSDT", "action": "buy", "stoplos": "2%"}');

    await shown('The relay would refuse it');
    await page.getByText('stoplos', { exact: true }).waitFor();
    expect(await page.getByRole('button', { name: 'Try it' }).isDisabled()).toBe(true);
  });

  test('reads the message of another relay, and uses ours', async () => {
    await view('Alert builder');
    await page
      .getByLabel('A message of TradersPost')
      .fill(
        '{"ticker": "BTCUSDT", "action": "buy", "quantity": 0.002, "sentiment": "bullish", "stopLoss": {"type": "stop", "stopPrice": 49000}}',
      );

    await press('Read it');
    await shown('TradersPost');
    await press('Use this message');

    expect(await page.getByLabel('Into the message box').inputValue()).toContain('"stopLoss": "49000"');
    await page.getByText('would be sent', { exact: true }).waitFor();
  });

  test('shows no order for a message that is not read yet, or cannot be', async () => {
    await view('Alert builder');
    await page.getByText('would be sent', { exact: true }).waitFor();

    await page.getByLabel('Into the message box').fill('x'.repeat(70_000));
    expect(await page.getByRole('button', { name: 'Try it' }).isDisabled()).toBe(true);
    await page.getByRole('alert').getByText('Too big').first().waitFor();

    expect(await page.getByText('would be sent', { exact: true }).count()).toBe(0);
    expect(await page.getByRole('button', { name: 'Try it' }).isDisabled()).toBe(true);
    // The browser itself tells of the answer.
    expect(window.faults.splice(0)).toEqual([expect.stringContaining('status of 400')]);
  });

  test('keeps each order and stop in the picture, however far it is from the price', async () => {
    await page.route('**/api/price?*', async (route) => {
      const response = await route.fetch();
      const shown = (await response.json()) as PriceDocument;
      const candles = shown.candles.map(({ time }) => ({
        time,
        open: '50000',
        high: '50000',
        low: '50000',
        close: '50000',
      }));
      const levels = [{ kind: 'order', price: '40000', text: 'far below' }];
      await route.fulfill({ response, json: { ...shown, candles, levels } });
    });

    await view('Price');
    await page.getByText('far below').waitFor();

    await waitForDrawn(page, 'accent');
  });

  test('shows new signals without a reload, and keeps its filters in the address', async () => {
    await relay.world.post(JSON.stringify({ ...market, quantity: '5' }));
    await page.getByRole('listitem').filter({ hasText: 'denied' }).waitFor();
    await relay.world.post(JSON.stringify({ ...market, id: 'buy-2' }));
    await page.getByRole('listitem').filter({ hasText: 'placed' }).waitFor();

    await page.getByLabel('Outcome').selectOption('denied');
    await page.getByLabel('Text').fill('buy 5');
    await page.waitForURL(/status=denied.*text=buy\+5/);
    await page.reload();

    await page.getByRole('listitem').filter({ hasText: 'denied' }).waitFor();
    expect(await page.getByRole('listitem').count()).toBe(1);
    expect(await page.getByLabel('Outcome').inputValue()).toBe('denied');
    await press('Clear');
    await page.getByRole('listitem').filter({ hasText: 'placed' }).waitFor();
  });

  test('lets nobody overlook an unknown outcome, looks it up, and settles it by what a person saw', async () => {
    // The exchange never gets it: the relay itself needs five minutes to prove that.
    relay.world.paper.control.addFault({ fault: 'drop_before', endpoint: 'stop-limit' });
    await relay.world.post(buyAlert({ quantity: '0.001' }));

    await view('Health');
    await page.getByRole('alert').getByText('The outcome of one signal is unknown').waitFor();
    await page.getByRole('alert').getByRole('link').click();
    await press('Look it up now');
    await shown('It is still unknown');
    await page.getByText('I saw at the exchange what became of it').click();
    await page.getByRole('combobox', { name: 'It is' }).selectOption('not_placed');
    await page.getByLabel('Where and when you saw it').fill('order history, 14:05');
    await press('Record …');
    await inDialog('Record it').click();

    await shown('It is settled as not_placed');
    await page.getByText('The outcome of one signal is unknown').waitFor({ state: 'detached' });
    expect((await relay.world.settled('buy-1')).steps.at(-1)?.note).toContain('order history, 14:05');
    expect(relay.world.paper.control.state().acceptedCreates).toBe(0);
  });

  test('sends again what was denied, once', async () => {
    await relay.world.ledger.writePause('main', { sinceMs: 0, reason: 'test', kind: 'entries' });
    await relay.world.post(JSON.stringify(market));
    await relay.world.settled('buy-1');
    await relay.world.ledger.writePause('main', null);
    await page.getByRole('listitem').filter({ hasText: 'denied' }).getByRole('link').click();

    await press('Send again');
    await page.getByRole('dialog').getByText('would be sent', { exact: true }).waitFor();
    await inDialog('Send the new signal').click();

    await page.getByText('sent again in place of buy-1').first().waitFor({ state: 'attached' });
    expect(relay.world.paper.control.state().acceptedCreates).toBe(1);
  });

  test('changes the protection of a position, and closes it', async () => {
    await relay.world.post(JSON.stringify({ ...market, stopLoss: '2%' }));
    await relay.world.settled('buy-1');
    await view('Positions');
    await page
      .getByRole('listitem')
      .filter({ hasText: 'stop-loss at 49 000' })
      .getByText('stands', { exact: true })
      .waitFor();

    await press('Protect');
    await page.getByRole('dialog').getByLabel('Stop-loss').fill('48000');
    await inDialog('Change it').click();
    await page
      .getByRole('listitem')
      .filter({ hasText: 'stop-loss at 48 000' })
      .getByText('stands', { exact: true })
      .waitFor();
    await press('Close …');
    await inDialog('Close it').click();

    await shown('No open positions.');
    expect(relay.world.paper.control.state().orders.filter(({ status }) => status === 'open')).toEqual([]);
  });

  test('shows what stands as the exchange has rounded it', async () => {
    const takeProfits = [{ price: '1.2345678%', share: '33.333333%' }];
    await relay.world.post(JSON.stringify({ ...market, quantity: '0.01', takeProfits }));
    await relay.world.settledBelow('buy-1', 2);
    await view('Positions');

    await page
      .getByRole('listitem')
      .filter({ hasText: 'take-profit 1 at 50 617.29 for 0.003333 ·' })
      .getByText('stands', { exact: true })
      .waitFor();
  });

  test('shows pairs and planned exits, and cancels an order with what it plans', async () => {
    await relay.world.post(JSON.stringify({ ...market, id: 'pair', stopLoss: '2%', takeProfit: '4%' }));
    await relay.world.settled('pair');
    await relay.world.post(
      buyAlert({
        quantity: '0.001',
        stopPrice: '60000',
        limitPrice: '60050',
        stopLoss: '58000',
        takeProfit: '63000',
      }),
    );
    await relay.world.settled('buy-1');
    await view('Orders');
    await shown('When it fills: stop-loss at 58 000');

    await press(/^Cancel OTO/);
    await page
      .getByRole('dialog')
      .getByRole('listitem')
      .filter({ hasText: 'its planned stop-loss at 58 000' })
      .waitFor();
    await page.getByRole('dialog').getByText('its planned take-profit at 63 000').waitFor();
    await inDialog('Cancel it').click();

    await page.getByText('Order with planned exits (OTO)').waitFor({ state: 'detached' });
    await shown('Pair (OCO): when one executes, the other is cancelled');
  });

  test('pauses, says so above every view, and resumes', async () => {
    await view('Health');
    await press('Pause …');
    await page.getByRole('dialog').getByLabel('Reason').fill('news at noon');
    await inDialog('Pause').click();

    await shown('main is paused');
    expect(await relay.world.ledger.readPause('main')).toMatchObject({
      reason: 'news at noon',
      kind: 'entries',
    });
    await press('Resume …');
    await inDialog('Resume').click();
    await page.getByText('main is paused').first().waitFor({ state: 'detached' });
    expect(await relay.world.ledger.readPause('main')).toBeNull();
  });

  test('pauses and closes everything with the red button, and says before what goes out', async () => {
    await relay.world.post(JSON.stringify(market));
    await relay.world.settled('buy-1');
    await view('Positions');

    await press('Pause and close everything');
    await page.getByRole('dialog').getByText('main: sell 0.001 in BTC_USDT').waitFor();
    await inDialog('Pause and close everything').click();

    await shown('No open positions.');
    await shown('main is paused');
  });

  test('is used by the keyboard alone', async () => {
    for (const id of ['k1', 'k2', 'k3'])
      await relay.world.post(JSON.stringify({ ...market, id, quantity: '5' }));
    await page.getByRole('listitem').nth(2).waitFor();

    await page.getByRole('listitem').first().getByRole('link').focus();
    await page.keyboard.press('End');
    await page.keyboard.press('ArrowUp');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'k2' }).waitFor();

    await page.getByRole('button', { name: 'Send again' }).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    expect(relay.world.paper.control.state().acceptedCreates).toBe(0);
  });
});
