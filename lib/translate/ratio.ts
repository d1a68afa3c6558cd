/** A share from 0 to 1 as a per cent, moved by its digits; undefined for anything else. */
export function ratioAsPercent(text: string): string | undefined {
  if (!/^\d(?:\.\d{1,12})?$/.test(text)) return undefined;
  const [whole = '0', fraction = ''] = text.split('.');
  const digits = `${whole}${fraction.padEnd(2, '0')}`;
  const moved = `${digits.slice(0, whole.length + 2)}.${digits.slice(whole.length + 2)}`;
  return `${moved.replace(/^0+(?=\d)/, '').replace(/\.?0*$/, '')}%`.replace(/^%$/, '0%');
}
