/** The JSON of an event, written once however many are told of it; the bytes of a large one are shared, too. */
export interface EventText {
  readonly json: string;
  /** In UTF-8. Nobody may change them. */
  readonly bytes: Buffer;
}

export function createEventText(json: string): EventText {
  let bytes: Buffer | undefined;
  return {
    json,
    get bytes() {
      bytes ??= Buffer.from(json, "utf8");
      return bytes;
    },
  };
}
