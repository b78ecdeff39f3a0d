import type { Decoded, NamedValue } from "../chain/decoding.ts";
import { showNumber, showText } from "../format.ts";
import { Bytes } from "./bytes.tsx";
import { AccountLink } from "./links.tsx";

/** Most items of a list that are shown. */
const SHOWN_ITEMS = 50;
/** Most levels of nested lists that are shown. */
const DEEPEST = 6;

/** A decoded call such as `transfer(to, value)`, with its values below. */
export function DecodedValues({ decoded }: { readonly decoded: Decoded }) {
  return (
    <div class="decoded">
      <p>
        <code class="signature">{showText(decoded.name, 100)}</code>
        {decoded.isGuess && <span class="badge plain">by standard</span>}
      </p>
      {decoded.values.length > 0 && (
        <ul class="values">
          {decoded.values.map((value, index) => (
            <li key={index}>
              <span class="note">{showText(value.name === "" ? `${index}` : value.name, 60)}</span>
              <ValueOf {...value} />
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}

/** A decoded value. All of it is text from the chain. */
export function ValueOf({ type, value, depth = 0 }: Omit<NamedValue, "name"> & { readonly depth?: number }) {
  if (type === "address" && typeof value === "string")
    return <AccountLink address={value.toLowerCase()} isWhole />;
  if (typeof value === "bigint") return <span title={`0x${value.toString(16)}`}>{showNumber(value)}</span>;
  if (typeof value === "string" && /^bytes/.test(type)) return <Bytes text={showText(value, 2_000)} />;
  if (typeof value === "string") return <q class="text">{showText(value)}</q>;
  if (typeof value !== "object" || value === null) return <span>{String(value)}</span>;
  if (depth >= DEEPEST) return <span>…</span>;
  const items = Object.entries(value as Readonly<Record<string, unknown>>);
  const itemType = type.replace(/\[\d*\]$/, "");
  return (
    <ol class="items">
      {items.slice(0, SHOWN_ITEMS).map(([key, item]) => (
        <li key={key}>
          <ValueOf type={itemType === type ? "" : itemType} value={item} depth={depth + 1} />
        </li>
      ))}
      {items.length > SHOWN_ITEMS && <li class="note">and {showNumber(items.length - SHOWN_ITEMS)} more</li>}
    </ol>
  );
}
