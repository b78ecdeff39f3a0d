import { showText } from "../format.ts";

/** Stands where a page is about an address, and the path has none. */
export function NoAddress({ text, what }: { readonly text: string; readonly what: string }) {
  return (
    <article class="page narrow">
      <h1>No such {what}</h1>
      <p>
        <code>{showText(text, 80)}</code> is not an address: those have forty digits after 0x.
      </p>
    </article>
  );
}
