import type { Database } from "../../storage/database.ts";
import type { NewPage } from "../stage.ts";
import type { PlacedRecord, StoredNode } from "./nodeRecord.ts";
import { type NodeReader, PageReader } from "./pageReader.ts";

export class HeadNodes implements NodeReader {
  private readonly pages: PageReader;

  constructor(database: Database, limits: { readonly nodeCacheBytes: number }) {
    this.pages = new PageReader(database, limits.nodeCacheBytes);
  }

  read(trieId: number, key: Uint8Array, depth: number, node: StoredNode): PlacedRecord {
    return this.pages.read(trieId, key, depth, node);
  }

  adopt(_pages: readonly NewPage[]): void {}

  forget(): void {
    this.pages.forget();
  }
}
