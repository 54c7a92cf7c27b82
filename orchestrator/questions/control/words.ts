/** First halves of made-up names. 96 common words, disjoint from TAILS. */
export const HEADS: readonly string[] = `
amber silver copper golden crimson scarlet violet olive ivory maple cedar willow birch aspen hazel walnut
river ocean island valley meadow forest canyon desert harbor summit winter summer autumn spring morning evening
quiet gentle hidden frozen broken hollow narrow distant ancient modern rapid steady silent bright clever humble
north south east west upper lower inner outer round square double triple solid liquid plain rough
cotton velvet linen paper marble granite iron steel clay sand coral pearl salt honey lemon cherry
falcon raven sparrow otter badger rabbit tiger panda dragon salmon turtle beetle spider hornet wolf fox
`
  .trim()
  .split(/\s+/);

/** Second halves of made-up names. 96 common words, disjoint from HEADS. */
export const TAILS: readonly string[] = `
lock latch bridge tower wheel ladder window mirror lamp candle bell drum horn flute whistle needle
anchor basket bucket barrel bottle kettle hammer chisel shovel rope chain hook spoon fork plate tray
garden orchard cabin cottage castle temple market station tunnel corridor pantry attic porch fence wall roof
engine motor pump valve piston lever pulley bolt gear axle crank filter funnel hinge magnet battery
letter ticket ledger diary poster banner ribbon button pocket collar sleeve jacket helmet glove boot scarf
stone pebble leaf branch root seed petal feather shell paw tail wing thunder storm breeze shadow
`
  .trim()
  .split(/\s+/);
