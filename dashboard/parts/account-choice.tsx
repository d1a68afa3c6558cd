import { about, account, keep } from '../state.ts';
import { Choice } from './basics.tsx';

/** Which account a view shows; the address bar keeps it. */
export function AccountChoice() {
  const accounts = about.value?.accounts ?? [];
  return (
    <Choice
      label="Account"
      value={account.value}
      options={accounts.map(({ name, mode }) => [name, `${name} (${mode})`] as const)}
      choose={(name) => keep({ account: name })}
    />
  );
}
