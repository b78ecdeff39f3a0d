import { useState } from "preact/hooks";

/** Copies a hash or an address. */
export function Copy({ text, what }: { readonly text: string; readonly what: string }) {
  const [isDone, setDone] = useState(false);
  const copy = (): void => {
    void navigator.clipboard.writeText(text).then(() => {
      setDone(true);
      setTimeout(() => setDone(false), 1_500);
    });
  };
  return (
    <button type="button" class="copy" aria-label={`Copy ${what}`} title={`Copy ${what}`} onClick={copy}>
      <svg viewBox="0 0 16 16" aria-hidden="true">
        {isDone ? (
          <path d="M3 8.500l3.200 3.200L13 5" />
        ) : (
          <path d="M5.500 5.500V3h7.500v7.500h-2.500M3 5.500h7.500V13H3z" />
        )}
      </svg>
    </button>
  );
}
