import { call } from "../chain/connection.ts";
import { useLoaded } from "../chain/hooks.ts";
import { hexOf, loadBlocks } from "../chain/recentBlocks.ts";
import { BlockTable } from "../parts/blockTable.tsx";
import { Loading, Problem } from "../parts/notices.tsx";
import { Pager } from "../parts/pager.tsx";
import { Panel } from "../parts/panel.tsx";
import type { ViewProps } from "../router.ts";

const PAGE = 50;

/** All blocks, the newest first. */
export function BlocksView({ route }: ViewProps) {
  const from = route.query.get("from");
  const newest = from !== null && /^\d{1,15}$/.test(from) ? Number(from) : undefined;
  const loaded = useLoaded(async () => {
    const head = Number(await call<string>("eth_blockNumber"));
    return { head, blocks: await loadBlocks(hexOf(Math.min(newest ?? head, head)), PAGE) };
  }, [newest]);
  const { value } = loaded;
  const last = value?.blocks.at(-1);
  const [first] = value?.blocks ?? [];
  return (
    <article class="page">
      <h1>Blocks</h1>
      {loaded.error !== undefined && <Problem error={loaded.error} />}
      {value === undefined || first === undefined || last === undefined ? (
        <Loading />
      ) : (
        <Panel title={`${first.number} to ${last.number}`}>
          <BlockTable blocks={value.blocks} />
          <Pager
            newer={
              first.number < value.head
                ? `/blocks?from=${Math.min(value.head, first.number + PAGE)}`
                : undefined
            }
            older={last.number > 0 ? `/blocks?from=${last.number - 1}` : undefined}
          />
        </Panel>
      )}
    </article>
  );
}
