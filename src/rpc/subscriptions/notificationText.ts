/** The JSON of an event, written once however many are told of it, and its bytes, too. */
export interface EventText {
  readonly json: string;
  /** In UTF-8. Nobody may change them. */
  readonly bytes: Buffer;
}

export function createEventText(json: string): EventText {
  return new WrittenEvent(json);
}

class WrittenEvent implements EventText {
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
