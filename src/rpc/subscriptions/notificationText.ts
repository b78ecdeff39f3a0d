/** The JSON of an event and its bytes, each created once for all subscribers. */
export interface EventText {
  readonly json: string;
  /** In UTF-8. Must not be modified. */
  readonly bytes: Buffer;
}

export function createEventText(json: string): EventText {
  return new CachedEventText(json);
}

class CachedEventText implements EventText {
  readonly json: string;
  #bytes: Buffer | undefined;

  constructor(json: string) {
    this.json = json;
  }

  get bytes(): Buffer {
    this.#bytes ??= Buffer.from(this.json, "utf8");
    return this.#bytes;
  }
}
