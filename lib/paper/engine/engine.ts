import {
  type CancelAllCommand,
  type CancelCommand,
  type CancelConditionalCommand,
  cancelMatching,
  cancelOne,
  endConditional,
} from './cancelling.ts';
import { type ClosePositionCommand, closePosition } from './closing.ts';
import type { CommandResult } from './command-result.ts';
import { type CreateCommand, createOrder } from './creating.ts';
import { type CreatePairCommand, createPair } from './creating-pairs.ts';
import type { ExchangeState } from './exchange-state.ts';
import type { SetExitsCommand } from './exit-settings.ts';
import { type SetHedgeModeCommand, setHedgeMode } from './hedge-mode.ts';
import { type SetLeverageCommand, setLeverage } from './leverage.ts';
import { applyMainAccountCommand, type MainAccountCommand } from './main-account.ts';
import { matchTrade, type TradeCommand } from './matching.ts';
import { type ModifyCommand, modifyOrder } from './modifying.ts';
import { type SetFundsCommand, setFunds } from './set-funds.ts';
import { recordSpotBalances } from './spot-history.ts';

/**
 * Every change of the exchange state. Replaying the same commands on a new state always gives the same state.
 */
export type Command =
  | CreateCommand
  | CreatePairCommand
  | ModifyCommand
  | CancelCommand
  | CancelAllCommand
  | CancelConditionalCommand
  | ClosePositionCommand
  | TradeCommand
  | SetLeverageCommand
  | SetHedgeModeCommand
  | SetFundsCommand
  | SetExitsCommand
  | MainAccountCommand;

/**
 * Applies a command to the state. A refused command changes nothing.
 *
 * @throws RangeError when a balance, a transfer fee or an interest payment cannot be set
 */
export function applyCommand(state: ExchangeState, command: Command): CommandResult {
  const result = apply(state, command);
  recordSpotBalances(state.accounts, command.atMs);
  return result;
}

function apply(state: ExchangeState, command: Command): CommandResult {
  switch (command.kind) {
    case 'create':
      return createOrder(state, command);
    case 'create_pair':
      return createPair(state, command);
    case 'modify':
      return modifyOrder(state, command);
    case 'cancel':
      return cancelOne(state, command);
    case 'cancel_all':
      return cancelMatching(state, command);
    case 'cancel_conditional':
      return endConditional(state, command);
    case 'close_position':
      return closePosition(state, command);
    case 'trade':
      return { result: 'traded', touched: matchTrade(state, command) };
    case 'set_leverage':
      return setLeverage(state, command);
    case 'set_hedge_mode':
      return setHedgeMode(state, command);
    case 'set_funds':
      return setFunds(state, command);
    case 'set_exits':
      state.exitSettings = { ...state.exitSettings, ...command.change };
      return { result: 'set' };
    case 'set_balance':
    case 'set_fee':
    case 'pay_interest':
      applyMainAccountCommand(state.mainAccount, command);
      return { result: 'set' };
  }
}
