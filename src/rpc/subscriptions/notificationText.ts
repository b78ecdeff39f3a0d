/** The JSON of an event and its bytes, each created once for all subscribers. */
export class EventText {
  readonly json: string;
  #bytes: Buffer | undefined;

  constructor(json: string) {
    this.json = json;
  }

  /** The text in UTF-8. Must not be modified. */
  get bytes(): Buffer {
    this.#bytes ??= Buffer.from(this.json, "utf8");
    return this.#bytes;
  }
}
