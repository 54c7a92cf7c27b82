/** First halves of repositories' names. */
export const QUALITIES: readonly string[] = `
amber silver copper golden scarlet violet olive ivory quiet gentle hidden frozen broken hollow narrow
distant ancient modern rapid steady silent bright clever humble northern southern eastern western upper
lower inner outer round square double triple solid liquid plain rough early late dry wet warm cold young old
`
  .trim()
  .split(/\s+/);

/** Second halves of repositories' names. */
export const PLACES: readonly string[] = `
river ocean island valley meadow forest canyon desert harbor summit lake hill coast bay cliff cave field
garden orchard prairie glacier lagoon marsh pond creek ridge plateau peninsula delta waterfall shore reef
village town city castle temple market station tunnel bridge tower road street park farm mill port
`
  .trim()
  .split(/\s+/);

/** Names of modules: common words, so that small models have one token for each. In no repository's name. */
export const THINGS: readonly string[] = `
lock wheel ladder window mirror lamp candle bell drum horn flute whistle needle anchor basket bucket barrel
bottle kettle hammer chain hook spoon fork plate tray cabin cottage corridor attic porch fence wall roof
engine motor pump valve piston lever gear axle filter funnel magnet battery letter ticket ledger diary
poster banner ribbon button pocket collar jacket helmet glove boot stone leaf branch root seed feather tail
wing cloud thunder storm breeze shadow maple cedar willow oak pine walnut cherry lemon grape peach banana
carrot potato tomato onion pepper garlic bean honey sugar salt bread butter cheese cream coffee juice wine
soup rice wheat corn flour cotton velvet wool silk paper marble granite iron steel clay sand coral pearl
falcon rabbit tiger lion dragon salmon turtle beetle spider wolf fox horse cow sheep goat pig dog cat mouse
rat goose eagle owl snake frog whale shark bear deer elephant monkey bee ant butterfly worm fish bird table
chair desk bed shelf drawer carpet curtain pillow blanket towel soap brush comb pencil pen notebook ruler
scissors glue tape stamp envelope globe clock watch calendar guitar piano violin trumpet harp organ car
truck bus train boat ship plane rocket wagon bicycle cart canoe ball goal trophy puzzle chess card dice doll
toy kite balloon king queen prince knight soldier sailor farmer baker teacher doctor painter singer dancer
lawyer judge arm leg hand finger thumb elbow knee shoulder neck ear eye nose mouth tooth tongue chin moon
star sun planet comet galaxy rain snow ice fog wind fire smoke flame shirt dress skirt coat hat shoe sock
belt hotel museum library theater school hospital factory kitchen bedroom garage bakery office camera radio
phone laptop printer screen keyboard cable sword shield arrow spear armor crown throne rope wire nail bolt
axe knife gold diamond jewel ring necklace tree flower rose lily grass bush moss vine fern cake pie cookie
candy chocolate salad pizza winter summer autumn morning evening door gate floor stairs chimney milk egg box
bag cup bowl pot pan glass jar book poem novel story song coin purse wallet
`
  .trim()
  .split(/\s+/);
