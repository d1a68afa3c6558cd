import { type AlertForm, partsOf } from '../write-message.ts';
import { Choice, TextEntry } from './basics.tsx';

interface FormProps {
  readonly form: AlertForm;
  readonly tickers: readonly string[];
  change(form: AlertForm): void;
}

const strategyActions = [
  ['follow', 'follow the position of the strategy'],
  ['orders', 'repeat the orders of the strategy'],
  ['cancel_all', 'cancel the orders of the market'],
] as const;

const priceActions = [
  ['buy', 'buy'],
  ['sell', 'sell'],
  ['close', 'close the position'],
  ['reverse', 'reverse the position'],
  ['target', 'bring the position to a target'],
  ['protect', 'change what protects the position'],
  ['cancel_all', 'cancel the orders of the market'],
] as const;

const kinds = [
  ['market', 'market, within maxSlippage'],
  ['limit', 'limit'],
  ['stop_limit', 'stop-limit'],
  ['stop_market', 'stop-market'],
] as const;

const units = [
  ['base', 'in the base currency'],
  ['quote', 'in the quote currency'],
  ['percent', '% of the free balance'],
  ['position', '% of the position'],
] as const;

/** What an alert can say. What does not apply to the action is not shown. */
export function BuilderForm({ form, tickers, change }: FormProps) {
  const parts = partsOf(form);
  const set =
    <Name extends keyof AlertForm>(name: Name) =>
    (value: string) =>
      change({ ...form, [name]: value as AlertForm[Name] });
  function chooseOf(of: string): void {
    const isStrategy = of === 'strategy';
    change({ ...form, of: isStrategy ? 'strategy' : 'price', action: isStrategy ? 'follow' : 'buy' });
  }
  return (
    <form class="builder" onSubmit={(event) => event.preventDefault()} aria-label="What the alert says">
      <Choice
        label="Alert of"
        value={form.of}
        options={[
          ['price', 'a price or an indicator'],
          ['strategy', 'a strategy'],
        ]}
        choose={chooseOf}
      />
      <Choice
        label="Market"
        value={form.ticker}
        options={[['', 'that of the chart'], ...tickers.map((ticker) => [ticker, ticker] as const)]}
        choose={set('ticker')}
      />
      <Choice
        label="Action"
        value={form.action}
        options={form.of === 'strategy' ? strategyActions : priceActions}
        choose={set('action')}
      />
      {parts.hasKind && (
        <Choice label="Kind of order" value={form.kind} options={kinds} choose={set('kind')} />
      )}
      {parts.hasSize && (
        <>
          <Choice label="Size is" value={form.unit} options={unitsFor(form)} choose={set('unit')} />
          <TextEntry label="Size" value={form.size} change={set('size')} hint={sizeHint(form)} />
        </>
      )}
      {parts.hasStopPrice && (
        <TextEntry
          label="Trigger price"
          value={form.stopPrice}
          placeholder="{{plot_0}}"
          change={set('stopPrice')}
        />
      )}
      {parts.hasLimitPrice && (
        <TextEntry
          label="Limit price"
          value={form.limitPrice}
          placeholder="{{close}}"
          change={set('limitPrice')}
        />
      )}
      {parts.hasExits && (
        <>
          <TextEntry label="Stop-loss" value={form.stopLoss} placeholder="2%" change={set('stopLoss')} />
          <TextEntry
            label="Take-profit"
            value={form.takeProfit}
            placeholder="4%"
            change={set('takeProfit')}
          />
          <TextEntry label="Trailing" value={form.trailing} placeholder="1.5%" change={set('trailing')} />
        </>
      )}
      {parts.hasSlippage && (
        <TextEntry
          label="Most slippage"
          value={form.maxSlippage}
          placeholder="as the account allows"
          change={set('maxSlippage')}
        />
      )}
      <TextEntry
        label="Strategy"
        value={form.strategy}
        placeholder="a name for the report"
        change={set('strategy')}
      />
      <TextEntry label="Comment" value={form.comment} change={set('comment')} />
    </form>
  );
}

function unitsFor({ action }: AlertForm) {
  if (action === 'target') return units.slice(0, 2);
  return action === 'close' ? units.slice(3) : units;
}

function sizeHint({ action }: AlertForm): string {
  if (action === 'target') return 'Below zero for a short position; "flat" for none.';
  return action === 'close'
    ? 'Empty: all of it.'
    : 'A number, or a placeholder such as {{strategy.order.contracts}}.';
}
