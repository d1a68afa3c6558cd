import { send } from '../calls.ts';
import { AccountChoice } from '../parts/account-choice.tsx';
import { Badge, Empty, FailureBox, Loading, SignalLink } from '../parts/basics.tsx';
import { ask } from '../parts/confirm.tsx';
import { Table, type TableColumn } from '../parts/table.tsx';
import { about } from '../state.ts';
import { useAccountReading } from '../use-reading.ts';
import { showNumber, showTime } from '../words.ts';

interface OrderShown {
  readonly orderId: number;
  readonly clientOrderId: string;
  readonly market: string;
  readonly side: 'buy' | 'sell';
  readonly type: string;
  readonly status: string;
  readonly createdAtMs: number;
  readonly amount: string;
  readonly remaining: string;
  readonly price: string;
  readonly activationPrice?: string;
  readonly reduceOnly?: boolean;
  readonly positionSide?: string;
}

interface GroupShown {
  readonly kind: 'oco' | 'oto';
  readonly id: number;
  readonly stopLoss?: OrderShown;
  readonly takeProfit?: OrderShown;
  readonly primary?: OrderShown;
  /** Of an OTO: what is placed when its order fills. */
  readonly stopLossPrice?: string | null;
  readonly takeProfitPrice?: string | null;
}

interface OrdersDocument {
  readonly account: string;
  readonly orders: readonly GroupShown[];
  /** Null in a dialect that cannot list single orders. */
  readonly open: readonly OrderShown[] | null;
  /** Order id → the signal whose order it is. */
  readonly signals: Readonly<Record<string, string>>;
  readonly isWhole: boolean;
}

export function OrdersView() {
  const { document: shown, failure, isLoading, again } = useAccountReading<OrdersDocument>('/api/orders');
  return (
    <>
      <h1>Open orders</h1>
      <div class="bar">
        <AccountChoice />
      </div>
      <FailureBox failure={failure} />
      <Loading isLoading={isLoading && shown === null} />
      {shown !== null && <Lists shown={shown} again={again} />}
    </>
  );
}

function Lists({ shown, again }: { readonly shown: OrdersDocument; again(): void }) {
  const { orders: groups, open, isWhole } = shown;
  const grouped = new Set(groups.flatMap(ordersOf).map(({ orderId }) => orderId));
  const single = (open ?? []).filter(({ orderId }) => !grouped.has(orderId));
  return (
    <>
      {!isWhole && <p class="note waiting">There may be more orders: a list could not be read whole.</p>}
      {open === null && (
        <p class="note waiting">The documented dialect lists only orders with a stop-loss or take-profit.</p>
      )}
      {groups.length === 0 && single.length === 0 && <Empty>No open orders.</Empty>}
      {groups.map((group) => (
        <Group key={`${group.kind} ${group.id}`} group={group} shown={shown} again={again} />
      ))}
      {single.length > 0 && (
        <Table caption="Single orders" rows={single} keyOf={keyOf} columns={columnsOf(shown, again)} />
      )}
    </>
  );
}

const groupNames = {
  oco: 'Pair (OCO): when one executes, the other is cancelled',
  oto: 'Order with planned exits (OTO)',
} as const;

function Group({
  group,
  shown,
  again,
}: {
  readonly group: GroupShown;
  readonly shown: OrdersDocument;
  again(): void;
}) {
  const members = ordersOf(group);
  const [first] = members;
  return (
    <section class="card">
      <h2>
        {first?.market} <Badge tone="faint">{group.kind.toUpperCase()}</Badge>
      </h2>
      <Table caption={groupNames[group.kind]} rows={members} keyOf={keyOf} columns={columnsOf(shown, null)} />
      {group.kind === 'oto' && (
        <p>
          When it fills: stop-loss at {showNumber(group.stopLossPrice)}, take-profit at{' '}
          {showNumber(group.takeProfitPrice)}.
        </p>
      )}
      {about.value?.isReadOnly !== true && first !== undefined && (
        <p class="buttons">
          <CancelButton
            what={`${group.kind.toUpperCase()} ${group.id} in ${first.market}`}
            ends={[...members.map(describe), ...plannedExitsOf(group)]}
            body={{ account: shown.account, market: first.market, [group.kind]: group.id }}
            again={again}
          />
        </p>
      )}
    </section>
  );
}

function ordersOf({ primary, stopLoss, takeProfit }: GroupShown): readonly OrderShown[] {
  return [primary, stopLoss, takeProfit].filter((order) => order !== undefined);
}

/** What a cancellation of the order takes along: it stands nowhere yet. */
function plannedExitsOf({ stopLossPrice, takeProfitPrice }: GroupShown): readonly string[] {
  const exits = [
    ['stop-loss', stopLossPrice],
    ['take-profit', takeProfitPrice],
  ] as const;
  return exits.flatMap(([name, price]) =>
    price === undefined || price === null ? [] : [`its planned ${name} at ${showNumber(price)}`],
  );
}

/** An order may be shown as a single one because the list that says what it plans could not be read whole. */
function unreadExitsOf({ isWhole }: OrdersDocument): readonly string[] {
  return isWhole ? [] : ['the stop-loss and take-profit that it may plan: a list could not be read whole'];
}

function keyOf({ orderId }: OrderShown): string {
  return String(orderId);
}

function describe({ side, remaining, type, price, activationPrice }: OrderShown): string {
  const at = activationPrice === undefined ? '' : `, trigger ${showNumber(activationPrice)}`;
  const limit = Number(price) === 0 ? '' : ` at ${showNumber(price)}`;
  return `${side} ${showNumber(remaining)} ${type.replaceAll('_', ' ')}${limit}${at}`;
}

function columnsOf(shown: OrdersDocument, again: (() => void) | null): readonly TableColumn<OrderShown>[] {
  const canCancel = again !== null && about.value?.isReadOnly !== true;
  return [
    { title: 'since', cell: ({ createdAtMs }) => showTime(createdAtMs) },
    { title: 'market', cell: ({ market }) => market },
    { title: 'side', cell: ({ side }) => <span class={side}>{side}</span> },
    {
      title: 'kind',
      cell: ({ type, reduceOnly }) =>
        `${type.replaceAll('_', ' ')}${reduceOnly === true ? ', only reduces' : ''}`,
    },
    {
      title: 'price',
      align: 'right',
      cell: ({ price }) => (Number(price) === 0 ? 'market' : showNumber(price)),
    },
    { title: 'trigger', align: 'right', cell: ({ activationPrice }) => showNumber(activationPrice) },
    { title: 'amount', align: 'right', cell: ({ amount }) => showNumber(amount) },
    { title: 'remaining', align: 'right', cell: ({ remaining }) => showNumber(remaining) },
    {
      title: 'signal',
      cell: ({ orderId }) => {
        return <SignalLink account={shown.account} signalId={shown.signals[orderId] ?? ''} />;
      },
    },
    ...(canCancel
      ? [
          {
            title: 'cancel',
            cell: (order: OrderShown) => (
              <CancelButton
                what={`order ${order.orderId} in ${order.market}`}
                ends={[describe(order), ...unreadExitsOf(shown)]}
                body={{ account: shown.account, market: order.market, orderId: order.orderId }}
                again={again}
              />
            ),
          },
        ]
      : []),
  ];
}

interface CancelProps {
  readonly what: string;
  /** Each thing that the cancellation ends, in words. */
  readonly ends: readonly string[];
  readonly body: object;
  again(): void;
}

function CancelButton({ what, ends, body, again }: CancelProps) {
  return (
    <button
      type="button"
      aria-label={`Cancel ${what}`}
      onClick={() =>
        ask({
          title: `Cancel ${what}?`,
          says: (
            <>
              <p>A cancellation goes to the exchange at once, as `relay cancel` sends it. What it ends:</p>
              <ul>
                {ends.map((each) => (
                  <li key={each}>{each}</li>
                ))}
              </ul>
              <p>If it protects a position that the relay keeps, you end that protection with it.</p>
            </>
          ),
          button: 'Cancel it',
          isDangerous: true,
          run: async () => {
            await send('/api/cancel', body);
            return `Cancelled: ${what}`;
          },
          done: again,
        })
      }
    >
      Cancel …
    </button>
  );
}
