import { type Decimal, formatDecimal } from '../../lib/base/decimal.ts';

/** An exact decimal with thousands separators: `1,234,567.89`. */
export function formatGrouped(value: Decimal): string {
  const [whole = '', ...fraction] = formatDecimal(value).split('.');
  return [whole.replace(/\B(?=(?:\d{3})+$)/g, ','), ...fraction].join('.');
}
