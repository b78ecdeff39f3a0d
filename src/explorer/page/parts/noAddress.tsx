import { type AddressReading, MISTYPED } from "../chain/addresses.ts";
import { showText } from "../format.ts";

/**
 * Shown when a page is about an address, and the path has none, or one whose checksum does not fit. The latter is not opened
 * automatically: it would be someone else's account, or nobody's, and look like one's own that is empty. It may still be
 * right by another chain's rule (EIP-1191), so there is a link to it.
 */
export function NoAddress({
  text,
  reading,
  what,
  pathOf,
}: {
  readonly text: string;
  readonly reading: AddressReading;
  readonly what: string;
  readonly pathOf: (address: string) => string;
}) {
  if (reading.kind === "none")
    return (
      <article class="page narrow">
        <h1>No such {what}</h1>
        <p>
          <code>{showText(text, 80)}</code> is not an address: those have forty digits after 0x.
        </p>
      </article>
    );
  return (
    <article class="page narrow">
      <h1>A mistyped address</h1>
      <p class="hex">{text}</p>
      <p>{MISTYPED} Compare it with where it comes from.</p>
      <p>
        <a href={pathOf(reading.address)}>Show this {what} all the same</a>
      </p>
    </article>
  );
}
