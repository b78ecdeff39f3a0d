import { deserialize, serialize } from "node:v8";

/**
 * A value on its way through a thread that passes it on unread: one piece of memory. To copy the tens of thousands of objects that a
 * caller may write into it would hold that thread for a tenth of a second.
 */
interface Sealed<Content> {
  readonly sealed: Uint8Array;
  /** Tells the type apart; never set. */
  readonly content?: Content;
}

/** What a thread passes on unread, sealed where it came from another one. */
export type Unread<Content> = Content | Sealed<Content>;

/** Throws where the value cannot be cloned, such as one that is nested too deeply. */
export function seal<Content extends object>(content: Content): Sealed<Content> {
  return { sealed: serialize(content) };
}

/** The value, whose byte arrays may be views of the sealed memory. */
export function unseal<Content extends object>(unread: Unread<Content>): Content {
  // Only `seal` makes such a value, of a value of this type, hence the casts.
  return "sealed" in unread ? (deserialize(unread.sealed) as Content) : (unread as Content);
}
