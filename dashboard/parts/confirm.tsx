import { signal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { failureOf } from '../calls.ts';
import type { ShownFailure } from '../documents.ts';
import { doneCount, tell } from '../state.ts';
import { FailureBox } from './basics.tsx';

/** A question before something goes out. */
export interface Question {
  readonly title: string;
  /** What will go out, and what follows from it. */
  readonly says: ComponentChildren;
  /** What the button says, for example `Close the position`. */
  readonly button: string;
  readonly isDangerous?: boolean;
  /** Null while it must not be pressed. */
  readonly isReady?: () => boolean;
  /** Does it. What it returns is told. */
  run(): Promise<string>;
  /** Called when it was done. */
  done?(): void;
}

const asked = signal<Question | null>(null);

/** Asks before something goes out. */
export function ask(question: Question): void {
  asked.value = question;
}

/** The dialog of {@link ask}; once on the page. */
export function ConfirmDialog() {
  const question = asked.value;
  return question === null ? null : <OpenDialog key={question.title} question={question} />;
}

function OpenDialog({ question }: { readonly question: Question }) {
  const dialog = useRef<HTMLDialogElement>(null);
  const [failure, setFailure] = useState<ShownFailure | null>(null);
  const [isRunning, setRunning] = useState(false);
  useEffect(() => dialog.current?.showModal(), []);

  async function run(): Promise<void> {
    setRunning(true);
    setFailure(null);
    try {
      tell(await question.run());
      doneCount.value += 1;
      asked.value = null;
    } catch (error) {
      setFailure(failureOf(error));
      setRunning(false);
    }
    question.done?.();
  }

  return (
    <dialog
      ref={dialog}
      aria-labelledby="dialog-title"
      onCancel={(event) => isRunning && event.preventDefault()}
      onClose={() => {
        asked.value = null;
      }}
    >
      <h2 id="dialog-title">{question.title}</h2>
      <div class="says">{question.says}</div>
      <FailureBox failure={failure} />
      <div class="buttons">
        <button type="button" onClick={() => dialog.current?.close()} disabled={isRunning}>
          Do nothing
        </button>
        <button
          type="button"
          class={question.isDangerous === true ? 'danger' : 'main'}
          disabled={isRunning || question.isReady?.() === false}
          onClick={() => void run()}
        >
          {isRunning ? 'Sent; waiting …' : question.button}
        </button>
      </div>
    </dialog>
  );
}
