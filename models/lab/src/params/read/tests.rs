use serde::{Deserialize, Serialize};

use super::*;

const SCHEMA: &str = include_str!("tests/schema.toml");

#[derive(Clone, Copy, Debug, PartialEq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
enum Optimizer {
    Sgd,
    AdamW,
    /// Not an option of this lab.
    Lion,
}

impl fmt::Display for Optimizer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.serialize(f)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(try_from = "i64")]
struct Bits(i64);

#[derive(Debug, thiserror::Error)]
#[error("{0} is not 4 or 8")]
struct OtherBits(i64);

impl TryFrom<i64> for Bits {
    type Error = OtherBits;

    fn try_from(bits: i64) -> Result<Self, OtherBits> {
        if [4, 8].contains(&bits) { Ok(Self(bits)) } else { Err(OtherBits(bits)) }
    }
}

#[derive(Clone, Debug, PartialEq, Deserialize)]
struct Setup {
    width: usize,
    update: Update,
    watch: Option<u64>,
    bits: Bits,
    sizes: Vec<usize>,
    synchronize: bool,
    inputs: BTreeMap<String, f64>,
}

#[derive(Clone, Debug, PartialEq, Deserialize)]
struct Update {
    rate: f32,
    optimizer: Optimizer,
}

fn read<T: DeserializeOwned>(pairs: &[&str]) -> Result<T, LabError> {
    let schema = Schema::parse(SCHEMA).unwrap();
    let settings = Settings::from_pairs(pairs.iter().copied()).unwrap();
    let params = Params::resolve(&schema, &settings, Tables::builtin(), None).unwrap();
    params.read()
}

#[test]
fn fields_are_the_parameters_of_their_names() {
    let setup = Setup {
        width: 32,
        update: Update { rate: 0.5, optimizer: Optimizer::AdamW },
        watch: None,
        bits: Bits(8),
        sizes: vec![1, 2, 1000],
        synchronize: true,
        inputs: BTreeMap::from([("x".to_owned(), 1.0)]),
    };
    assert_eq!(read::<Setup>(&[]).unwrap(), setup);
    assert_eq!(read::<Setup>(&["watch=7"]).unwrap().watch, Some(7));
    assert_eq!(Optimizer::AdamW.to_string(), "adam-w");
}

#[test]
fn errors_name_the_parameter() {
    #[derive(Debug, Deserialize)]
    struct Must {
        #[expect(dead_code, reason = "it is never read: it is unset")]
        must: String,
    }
    let unset = "parameter 'must': it is unset; set it with --set NAME=VALUE";
    assert_eq!(read::<Must>(&[]).unwrap_err().to_string(), unset);
    for (set, message) in [
        ("width=-1", "parameter 'width': -1 is outside 0 and above"),
        ("bits=5", "bits: 5 is not 4 or 8"),
        ("sizes=[0.5]", "parameter 'sizes': expected int, found a number"),
    ] {
        assert_eq!(read::<Setup>(&[set]).unwrap_err().to_string(), message);
    }
}

#[test]
#[expect(dead_code, reason = "fields are only held against the schema")]
fn a_schema_fits_its_structs() {
    #[derive(Deserialize)]
    #[serde(rename_all = "kebab-case")]
    enum OnlySgd {
        Sgd,
    }
    #[derive(Deserialize)]
    struct Few {
        optimizer: Option<OnlySgd>,
    }
    #[derive(Deserialize)]
    struct Misspelt {
        widht: usize,
    }
    #[derive(Deserialize)]
    struct OtherType {
        synchronize: f64,
    }
    let fits = |schema: Result<Schema, SchemaError>| schema.unwrap_err().message;
    let schema = || Schema::parse(SCHEMA).unwrap();
    schema().fits::<Setup>().unwrap().fits::<Update>().unwrap();
    assert_eq!(
        fits(schema().fits::<Few>()),
        "parameter 'optimizer': 'adam-w' is not one of its values; there are: sgd"
    );
    assert_eq!(
        fits(schema().fits::<Misspelt>()),
        "parameter 'widht': no such parameter; did you mean 'width'?"
    );
    assert!(
        fits(schema().fits::<OtherType>()).starts_with("parameter 'synchronize': invalid type")
    );
}
